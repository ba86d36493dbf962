"""Jobs on paraphrases: scoring their distance, reporting success, telling failures apart, making them."""
