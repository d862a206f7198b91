// Package authority signs the certificates of a testbed's servers.
//
// Each cluster has an authority of its own. Its key is only in memory, and only while the cluster
// starts. Clients trust no other authority. It is not suitable for anything that lasts longer than
// a testbed: it neither revokes nor renews certificates.
package authority
