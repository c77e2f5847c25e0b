"""Clinical risk from tables: an outcome's probability from what is known of a patient at an index date."""
