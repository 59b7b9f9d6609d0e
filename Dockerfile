# docshape only: the server runs in another container, see compose.yaml.

# The same Rust release as in Cargo.toml. The full image has git, from which the build reads the commit.
FROM rust:1.90-bookworm AS build
WORKDIR /source
COPY . .
# Crates and compiled dependencies stay in the builder's cache, so that a change of docshape compiles docshape alone.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    cargo build --locked --profile dist --bin docshape \
    && install -D target/dist/docshape /built/docshape

# The program needs glibc and libgcc; certificates and TLS are compiled in. The same Debian release as above has the glibc
# that it was linked with. A musl build would need no base image, but its allocator would slow down the load.
FROM debian:bookworm-slim
# A volume mounted over this empty folder inherits its owner.
RUN useradd --uid 1000 --home-dir /docshape docshape \
    && install --directory --owner=docshape --group=docshape /docshape /docshape/results
COPY --from=build /built/docshape /usr/local/bin/docshape
USER docshape
WORKDIR /docshape
ENTRYPOINT ["docshape"]
CMD ["--help"]
