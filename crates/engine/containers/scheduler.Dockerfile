# The scheduler of a cluster: docker build -t ballista-scheduler -f crates/engine/containers/scheduler.Dockerfile crates/engine/containers
FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc g++ libc6-dev make pkg-config protobuf-compiler && rm -rf /var/lib/apt/lists/*
RUN cargo install --locked --version 55.0.0 ballista-scheduler

FROM debian:bookworm-slim
COPY --from=build /usr/local/cargo/bin/ballista-scheduler /usr/local/bin/
RUN useradd --create-home ballista
USER ballista
EXPOSE 50050
# A scheduler that pushes tasks can wait for ever for an executor that died.
ENTRYPOINT ["ballista-scheduler", "--bind-host", "0.0.0.0", "--scheduler-policy", "pull-staged"]
