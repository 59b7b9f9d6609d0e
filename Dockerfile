# docshape only; the server runs in another container, see compose.yaml.

# The Rust release of Cargo.toml. The full image has git, which the build needs to find the commit.
FROM rust:1.90-bookworm AS build
WORKDIR /source
COPY . .
# The builder caches crates and compiled dependencies, so that a change of docshape compiles only docshape.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    cargo build --locked --profile dist --bin docshape \
    && install -D target/dist/docshape /built/docshape

# The program needs glibc and libgcc; certificates and TLS are compiled in. The Debian release must match the build image,
# for its glibc. A musl build would need no base image, but its allocator would slow down the load.
FROM debian:bookworm-slim
# A volume mounted over this empty folder inherits its owner.
RUN useradd --uid 1000 --home-dir /docshape docshape \
    && install --directory --owner=docshape --group=docshape /docshape /docshape/results
COPY --from=build /built/docshape /usr/local/bin/docshape
USER docshape
WORKDIR /docshape
ENTRYPOINT ["docshape"]
CMD ["--help"]
