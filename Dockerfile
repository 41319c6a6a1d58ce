# One image for the app and for the worker: `docker build -t fivefold .`, then
# `docker run -p 127.0.0.1:8501:8501 -e FIVEFOLD_ALLOW_ANYONE=true -v fivefold:/data fivefold`. In a container the app
# listens on every address, so it starts only with sign-in (docs/team.md) or when told to serve everyone who reaches it.
# Pin it by digest: docs/database.md.
ARG PYTHON_IMAGE=python:3.11-slim
FROM ${PYTHON_IMAGE} AS build
# torch by itself and last: its builds have different checksums. A CPU build is enough and ten times smaller: name the
# index that has it with `--build-arg PIP_EXTRA_INDEX_URL=…`.
ARG PIP_EXTRA_INDEX_URL
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /build
COPY requirements.txt requirements.lock ./
RUN python -m venv /opt/fivefold \
    && /opt/fivefold/bin/pip install --no-deps --require-hashes -r requirements.lock \
    && /opt/fivefold/bin/pip install "$(grep -E '^torch==' requirements.txt)"

FROM ${PYTHON_IMAGE}
# Reads scanned pages; another language is one more package, as in tesseract-ocr-deu.
RUN apt-get update \
    && apt-get install -y --no-install-recommends tesseract-ocr \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 1000 fivefold && install -d -o fivefold -g fivefold /data
COPY --from=build /opt/fivefold /opt/fivefold
WORKDIR /app
COPY . .
ENV PATH=/opt/fivefold/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    FORWARDED_ALLOW_IPS="" \
    FIVEFOLD_DATA_FOLDER=/data
USER 1000
VOLUME /data
EXPOSE 8501
# /healthz asks the database and answers 503 when it does not reply; an unknown path would answer 200 whatever happens.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/healthz', timeout=8)"]
CMD ["python", "-m", "streamlit", "run", "app.py", "--server.address", "0.0.0.0"]
