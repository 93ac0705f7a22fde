"""What all figures share: one palette, one style, one page."""
