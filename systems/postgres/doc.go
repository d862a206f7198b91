// Package postgres is all there is to know about PostgreSQL as a messaging system: a driver
// on pgx, and a primary with its standbys on this machine, from the distribution's packages.
package postgres
