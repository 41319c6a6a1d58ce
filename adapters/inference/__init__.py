"""Models: embedder, cross-encoder, language-model client."""

import sys

# OpenVINO imports this package when it is imported itself, and with it sends usage statistics to Google Analytics and
# writes to the home folder. It goes on without it.
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
