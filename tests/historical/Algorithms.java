import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Utils;

/** Answers each line: "hash TEXT" (hashCode, murmur2, positive murmur2), "range PARTITIONS ID...". */
public final class Algorithms {
    private Algorithms() {
    }

    public static void main(String[] arguments) {
        Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8);
        while (lines.hasNextLine()) {
            String[] words = lines.nextLine().split("\t", -1);
            System.out.println(words[0].equals("hash") ? hashes(words[1]) : range(words));
        }
    }

    private static String hashes(String text) {
        int murmur2 = Utils.murmur2(text.getBytes(StandardCharsets.UTF_8));
        return text.hashCode() + " " + murmur2 + " " + Utils.toPositive(murmur2);
    }

    private static String range(String[] words) {
        Map<String, Integer> partitions = new HashMap<>();
        partitions.put("t", Integer.parseInt(words[1]));
        Map<String, Subscription> members = new HashMap<>();
        for (int at = 2; at < words.length; at++) {
            members.put(words[at], new Subscription(Collections.singletonList("t")));
        }
        Map<String, List<TopicPartition>> found = new RangeAssignor().assign(partitions, members);
        List<String> told = new ArrayList<>();
        for (int at = 2; at < words.length; at++) {
            StringBuilder mine = new StringBuilder();
            for (TopicPartition one : found.get(words[at])) {
                mine.append(' ').append(one.partition());
            }
            told.add(words[at] + mine);
        }
        return String.join("\t", told);
    }
}
