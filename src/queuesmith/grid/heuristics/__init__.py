"""Quick mappings by a rule, such as Min-Min."""
