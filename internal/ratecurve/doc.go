// Package ratecurve reads how many messages a second a real system carried, as monitoring exports
// it in a CSV file, and makes the load of a workload of it.
package ratecurve
