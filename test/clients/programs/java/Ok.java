import okhttp3.OkHttpClient;
import okhttp3.Request;

class Ok {
  public static void main(String[] args) throws Exception {
    var client = new OkHttpClient();
    try (var plain = client.newCall(get("https://api.openai.com/v1/models")).execute()) {
      System.out.println("status " + plain.code());
    }
    try (var streamed = client.newCall(get("https://api.openai.com/v1/events")).execute()) {
      var lines = streamed.body().source();
      for (var line = lines.readUtf8Line(); line != null; line = lines.readUtf8Line()) System.out.println(line);
    }
    System.exit(0);
  }

  static Request get(String url) {
    return new Request.Builder()
        .url(url)
        .header("Authorization", "Bearer " + System.getenv("OPENAI_API_KEY"))
        .build();
  }
}
