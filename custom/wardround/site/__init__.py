"""What a hospital's admin decides and keeps: site.yaml, local state, inspection."""
