// Package memory is a messaging system in the memory of the process that measures it: the smallest
// driver that passes the conformance suite, and the example of one that lives outside plimsoll's
// repository. Everything that it imports of plimsoll is public.
package memory
