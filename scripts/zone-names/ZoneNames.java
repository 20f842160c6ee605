import java.text.DateFormatSymbols;
import java.util.*;

/**
 * Writes crates/functions/src/scalar/temporal/zone_names.tsv: the English names of time zones as Java's DateFormatSymbols has
 * them, which with a JDK 17 are those of CLDR 39 and, where that has none, the JDK's own. A line a set of names: short and long
 * standard name, short and long name of summer time, then the zones, in Java's order.
 *
 *     java scripts/zone-names/ZoneNames.java > crates/functions/src/scalar/temporal/zone_names.tsv
 */
public class ZoneNames {
    public static void main(String[] args) {
        Map<String, List<String>> zonesOf = new LinkedHashMap<>();
        for (String[] row : new DateFormatSymbols(Locale.US).getZoneStrings()) {
            String names = String.join("\t", row[2], row[1], row[4], row[3]);
            zonesOf.computeIfAbsent(names, key -> new ArrayList<>()).add(row[0]);
        }
        zonesOf.forEach((names, ids) -> System.out.println(names + "\t" + String.join(" ", ids)));
    }
}
