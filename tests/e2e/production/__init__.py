"""One consortium over mTLS, which all tests here share and leave as they found it."""
