// Package maven fetches jars: pinned Maven coordinates and all that they need
// at run time, through the user's own mvn and its settings, so that mirrors, proxies and
// credentials are the same as for every other build on the machine. No repository is named here.
//
// It promises that a folder of jars is complete or does not exist. Jars are kept under the user's
// cache directory and found there the next time, without mvn:
//
//	plimsoll/maven/<name>-<hash of the coordinates>/        the jars, and a list of them
//	plimsoll/maven/<name>-<hash of the coordinates>.part/   while they are fetched
//	plimsoll/maven/<name>-<hash of the coordinates>.work/   where mvn works
//	plimsoll/maven/<name>-<hash of the coordinates>.lock held while they are fetched
//
// An Archive is a distribution that is not a jar: it is fetched the same way, unpacked, and kept
// under the same promises.
//
// The list is written last and the folder renamed into its place. A folder whose files differ from
// its list is fetched again. The lock is flock(2)'s: of two that want the same jars, one fetches
// and the other waits.
//
// It promises nothing about what the jars do, and runs nothing but mvn and
// java -version.
package maven
