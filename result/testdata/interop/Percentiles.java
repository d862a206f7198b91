import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/** Prints tag, sample count, percentile and value of every tag in a histogram log. */
public class Percentiles {
    public static void main(String[] args) throws Exception {
        Map<String, Histogram> totals = new TreeMap<>();
        HistogramLogReader reader = new HistogramLogReader(new File(args[0]));
        while (reader.hasNext()) {
            EncodableHistogram next = reader.nextIntervalHistogram();
            if (next == null) {
                break;
            }
            totals.computeIfAbsent(next.getTag(), t -> new Histogram(1L, 3_600_000_000_000L, 3))
                .add((Histogram) next);
        }
        double[] percentiles = {1, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999, 100};
        for (Map.Entry<String, Histogram> e : totals.entrySet()) {
            Histogram h = e.getValue();
            for (double p : percentiles) {
                System.out.println(e.getKey() + " " + h.getTotalCount() + " " + p + " " + h.getValueAtPercentile(p));
            }
        }
    }
}
