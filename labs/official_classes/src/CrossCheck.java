package crosscheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Lines in, lines out, one for one. Each line in has "ask", the name of one of the questions that the
 * other classes answer; what went wrong comes back as {"error"}, beside what was found before it.
 */
public final class CrossCheck {
    static final ObjectMapper MAPPER = new ObjectMapper();

    private CrossCheck() {}

    /** One kind of question. */
    interface Question {
        void answer(JsonNode asked, ObjectNode answer) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Question> questions = new HashMap<>();
        Messages.register(questions);
        registerRest(questions);
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(MAPPER.writeValueAsString(answer(questions, MAPPER.readTree(line))));
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }

    /** Some are left out of the build for releases whose classes are too different. */
    private static void registerRest(Map<String, Question> questions) throws Exception {
        for (String name : List.of("Headers", "RecordFormats", "ControlBatches")) {
            Class<?> found;
            try {
                found = Class.forName("crosscheck." + name);
            } catch (ClassNotFoundException leftOut) {
                continue;
            }
            found.getDeclaredMethod("register", Map.class).invoke(null, questions);
        }
    }

    private static ObjectNode answer(Map<String, Question> questions, JsonNode asked) throws IOException {
        ObjectNode answer = MAPPER.createObjectNode();
        Question question = questions.get(asked.get("ask").asText());
        if (question == null) {
            throw new IOException("no question of this build: " + asked.get("ask"));
        }
        try {
            question.answer(asked, answer);
        } catch (InvocationTargetException wrapped) {
            answer.put("error", String.valueOf(wrapped.getCause()));
        } catch (Throwable problem) { // Errors too: some readers allocate what a length claims
            answer.put("error", String.valueOf(problem));
        }
        return answer;
    }
}
