# hone for CPUs, without PyTorch beside it:
#
#   docker build -f docker/cpu.Dockerfile -t hone .
#   docker run --rm -v "$PWD:/work" hone bench model.onnx
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends libopencv-imgcodecs-dev libopencv-imgproc-dev \
        libcairo2-dev libcpp-httplib-dev
COPY . /src
RUN /src/hone --minimal release /out && tar --one-top-level=/opt/hone --strip-components=1 -xzf /out/hone-*.tar.gz

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 libstdc++6 fontconfig-config fonts-dejavu-core \
        && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/hone /opt/hone
ENV PATH=/opt/hone/bin:$PATH
WORKDIR /work
ENTRYPOINT ["hone"]
