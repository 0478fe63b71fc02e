# An executor of a cluster: docker build -t ballista-executor -f crates/engine/containers/executor.Dockerfile crates/engine/containers
FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc g++ libc6-dev make pkg-config protobuf-compiler && rm -rf /var/lib/apt/lists/*
RUN cargo install --locked --version 55.0.0 ballista-executor

FROM debian:bookworm-slim
COPY --from=build /usr/local/cargo/bin/ballista-executor /usr/local/bin/
RUN useradd --create-home ballista
USER ballista
EXPOSE 50051 50052
ENTRYPOINT ["ballista-executor", "--bind-host", "0.0.0.0", "--task-scheduling-policy", "pull-staged"]
