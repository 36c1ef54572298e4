package clients;

import java.lang.reflect.Method;

/** Calls of one meaning with other names in other releases, so that one program compiles for all. */
final class Either {
  private Either() {}

  /** The answer of the first of these methods that the release has. */
  static Object call(Object on, String... names) throws Exception {
    for (String name : names) {
      for (Method each : on.getClass().getMethods()) {
        if (each.getName().equals(name) && each.getParameterCount() == 0) {
          return each.invoke(on);
        }
      }
    }
    throw new Lacks(on.getClass().getSimpleName() + " has no " + String.join(" or ", names));
  }
}
