import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

class Client {
  public static void main(String[] args) throws Exception {
    var client = HttpClient.newHttpClient();
    var plain = client.send(get("https://api.openai.com/v1/models"), BodyHandlers.ofString());
    System.out.println("status " + plain.statusCode());
    var streamed = client.send(get("https://api.openai.com/v1/events"), BodyHandlers.ofLines());
    streamed.body().forEach(System.out::println);
  }

  static HttpRequest get(String url) {
    return HttpRequest.newBuilder(URI.create(url))
        .header("Authorization", "Bearer " + System.getenv("OPENAI_API_KEY"))
        .build();
  }
}
