// Package kafka is all there is to know about Apache Kafka and what speaks its
// protocol: a driver on franz-go, and a KRaft cluster on this machine from
// pinned Maven coordinates.
package kafka
