import java.io.BufferedReader;
import java.io.InputStreamReader;
import org.apache.http.client.methods.HttpGet;
import org.apache.http.impl.client.HttpClients;

class Apache {
  public static void main(String[] args) throws Exception {
    // The one that reads the properties of the system; `createDefault` knows no proxy.
    try (var client = HttpClients.createSystem()) {
      try (var plain = client.execute(get("https://api.openai.com/v1/models"))) {
        System.out.println("status " + plain.getStatusLine().getStatusCode());
      }
      try (var streamed = client.execute(get("https://api.openai.com/v1/events"))) {
        var reader = new BufferedReader(new InputStreamReader(streamed.getEntity().getContent()));
        for (var line = reader.readLine(); line != null; line = reader.readLine()) System.out.println(line);
      }
    }
  }

  static HttpGet get(String url) {
    var request = new HttpGet(url);
    request.setHeader("Authorization", "Bearer " + System.getenv("OPENAI_API_KEY"));
    return request;
  }
}
