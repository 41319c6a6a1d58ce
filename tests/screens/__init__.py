"""Pages as a user meets them, drawn by Streamlit over real stores in memory."""
