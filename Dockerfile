# The program with Parquet and PNG: docker build -t leakgauge . && docker run --rm -v "$PWD:/logs" leakgauge audit log.csv --claim 'ldp(epsilon=1)'
FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN cargo build --release --locked --features parquet,png

FROM debian:bookworm-slim
# Pictures as PNG need a font.
RUN apt-get update && apt-get install -y --no-install-recommends fonts-dejavu-core && rm -rf /var/lib/apt/lists/*
COPY --from=build /source/target/release/leakgauge /usr/local/bin/leakgauge
RUN useradd --create-home leakgauge
USER leakgauge
WORKDIR /logs
ENTRYPOINT ["leakgauge"]
