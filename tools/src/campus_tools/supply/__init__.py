"""Bills of materials of the images, and advisories about their requirements."""
