"""The views of the Tuning page. They only draw."""
