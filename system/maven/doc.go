// Package maven fetches jars: pinned Maven coordinates and all that they need
// at run time, through the user's own mvn and its settings, so that mirrors, proxies and
// credentials are the same as for every other build on the machine. No repository is named here.
//
// It promises that a folder of jars is complete or does not exist, and that its files are the
// pinned ones: mvn refuses a file that differs from its repository's checksum, each file that it
// brings has the SHA-256 that the program's source lists (Sums), and every Fetch finds the files
// unchanged. Jars are kept under the user's cache directory and found there the next time, without
// mvn:
//
//	plimsoll/maven/<name>-<hash of the coordinates>/        the jars, their SHA-256, checks
//	plimsoll/maven/<name>-<hash of the coordinates>.part/   while they are fetched
//	plimsoll/maven/<name>-<hash of the coordinates>.work/   where mvn works
//	plimsoll/maven/<name>-<hash of the coordinates>.lock held while they are fetched
//
// An Archive is a distribution that is not a jar: it is fetched the same way, unpacked, and kept
// under the same promises.
//
// The list is written last and the folder renamed into its place. A folder that lacks a file of
// its list, or has it in another size, is fetched again. A file of other content, or a jar too
// many, is an error. A file is read again only when its inode, size or times have changed. Whoever
// can write to the cache can forge these notes. The lock is flock(2)'s: of two that want the same
// jars, one fetches and the other waits.
//
// It promises nothing about what the jars do, and runs nothing but mvn and
// java -version.
package maven
