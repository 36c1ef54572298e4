import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/** Prints code, name and retriability of every error that a kafka-clients jar knows. */
public final class ErrorTable {
    private ErrorTable() {
    }

    public static void main(String[] arguments) {
        for (Errors error : Errors.values()) {
            boolean retriable = error.exception() instanceof RetriableException;
            System.out.println(error.code() + "\t" + error.name() + "\t" + retriable);
        }
    }
}
