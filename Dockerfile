# The image of plimsoll: one static program and nothing else, for a user that is not root.
#
#   docker build -t plimsoll:VERSION .
#
# A release gives the programs that it has built, one for each platform, in place of the source.
FROM golang:1.26 AS build
ARG TARGETPLATFORM
WORKDIR /src
COPY . .
RUN if [ -e "$TARGETPLATFORM/plimsoll" ]; then mkdir bin && cp "$TARGETPLATFORM/plimsoll" bin; else make build; fi

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /src/bin/plimsoll /plimsoll
USER 65532:65532
ENTRYPOINT ["/plimsoll"]
