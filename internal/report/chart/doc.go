// Package chart draws what runs, searches and sweeps measured: time lines, distributions of
// latency, resource use, several runs in one picture, trials over their rates, and small charts of
// a sweep.
//
// It makes document.Chart values, which internal/document draws. It promises that a bound is never
// drawn as a point, that the size of a chart is bounded (time lines longer than a screen are
// thinned so that the least and the greatest value of each stretch are kept), and that a chart
// which has no data is left out with the reason.
package chart
