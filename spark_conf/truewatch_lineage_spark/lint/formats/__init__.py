"""How each format is read: into settings with the lines they stand on."""
