// Package kubernetes writes the manifest for kubectl apply that runs an experiment on a fleet in a
// cluster, and packs the results for download.
//
// # The manifest
//
// A Job is the coordinator, whose results are on a volume. An Indexed Job has the workers, which
// find the coordinator by the name of a Service. A Deployment of one pod reads the volume: it
// serves the page while the experiment runs, and the results afterwards. Nothing in the manifest
// needs an operator or a custom resource, and plimsoll never speaks to a cluster.
//
// # What a pod may do
//
// Every pod meets the restricted profile of the Pod Security Standards: no root, no privileges, no
// capability, a root file system that cannot be written, no token of a service account. Network
// policies let workers reach the coordinator's port, and block everything else.
//
// # Secrets
//
// The manifest holds the fleet's secrets: the coordinator's identity, the join token, and the token
// of the page. It never holds those of a target, which stay in a Secret that the user names.
//
// # Loss
//
// No pod is ever replaced. A worker that ends stays lost, and the run says so.
package kubernetes
