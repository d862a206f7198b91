# The image of plimsoll: one static program and nothing else, for a user that is not root.
#
#   docker build -t plimsoll:VERSION .
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN make build

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /src/bin/plimsoll /plimsoll
USER 65532:65532
ENTRYPOINT ["/plimsoll"]
