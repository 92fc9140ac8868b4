# hone for NVIDIA GPUs; the host needs a driver for CUDA 13 and NVIDIA's container toolkit:
#
#   docker build -f docker/cuda.Dockerfile -t hone-cuda .
#   docker run --rm --gpus all -v "$PWD:/work" hone-cuda bench model.onnx --device cuda
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends libopencv-imgcodecs-dev libopencv-imgproc-dev \
        libcairo2-dev libcpp-httplib-dev
COPY . /src
RUN apt-get install -y --no-install-recommends python3-pip && /usr/bin/python3 /src/tools/cuda_toolkit.py >/cuda \
        && /src/hone --minimal backends --device cuda && cmake --install /src/build/release --prefix /opt/hone \
        && mkdir /opt/cuda && cp -a "$(cat /cuda)"/lib/*.so* /opt/cuda/

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 libstdc++6 fontconfig-config fonts-dejavu-core \
        && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/hone /opt/hone
COPY --from=build /opt/cuda /opt/cuda
ENV PATH=/opt/hone/bin:$PATH LD_LIBRARY_PATH=/opt/cuda NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /work
ENTRYPOINT ["hone"]
