"""Bags of tasks that really run: commands under dynamic priority, safe against crashes."""
