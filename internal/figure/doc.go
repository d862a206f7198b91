// Package figure is the catalogue of what is known of a run: each figure once, with its name in
// gates, CSV and studies, its title, its unit, which direction is better, what it means, and how it
// is read from a saved run. Gates, histories, studies and the costs of reports select figures by
// their names.
//
// A new figure is a row in one of the lists of this package.
package figure
