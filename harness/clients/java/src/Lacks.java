package clients;

/** This release of the client has no such function. */
final class Lacks extends Exception {
  private static final long serialVersionUID = 1;

  Lacks(String why) {
    super(why);
  }
}
