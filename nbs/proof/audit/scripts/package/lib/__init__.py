"Parts of a trainer, in modules."
