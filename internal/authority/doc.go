// Package authority signs the certificates of a testbed's servers.
//
// Each cluster has an authority of its own, whose key is nowhere but in memory
// and gone with the start. Clients trust it and nobody else. It is no
// certificate authority for anything that stands longer than a testbed:
// nothing is revoked and nothing renewed.
package authority
