# docshape and nothing else: the server is another container, see compose.yaml.

# The Rust release is that of Cargo.toml. The full image has git, by which the program learns the commit it is made from.
FROM rust:1.90-bookworm AS build
WORKDIR /source
COPY . .
# Crates and compiled dependencies stay on the builder, so that a change of docshape compiles docshape alone.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    cargo build --locked --profile dist --bin docshape \
    && install -D target/dist/docshape /built/docshape

# The program needs glibc and libgcc, not certificates or OpenSSL: they are inside. Same Debian release as above, so that
# glibc is the one it was linked with. A musl build could do without a base, but its allocator would slow the load down.
FROM debian:bookworm-slim
# A volume that is mounted over the empty folder takes its owner from it.
RUN useradd --uid 1000 --home-dir /docshape docshape \
    && install --directory --owner=docshape --group=docshape /docshape /docshape/results
COPY --from=build /built/docshape /usr/local/bin/docshape
USER docshape
WORKDIR /docshape
ENTRYPOINT ["docshape"]
CMD ["--help"]
