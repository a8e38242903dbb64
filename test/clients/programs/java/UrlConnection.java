import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URL;

class UrlConnection {
  public static void main(String[] args) throws Exception {
    System.out.println("status " + open("https://api.openai.com/v1/models").getResponseCode());
    var streamed = open("https://api.openai.com/v1/events").getInputStream();
    var reader = new BufferedReader(new InputStreamReader(streamed));
    for (var line = reader.readLine(); line != null; line = reader.readLine()) System.out.println(line);
  }

  static HttpURLConnection open(String url) throws Exception {
    var connection = (HttpURLConnection) new URL(url).openConnection();
    connection.setRequestProperty("Authorization", "Bearer " + System.getenv("OPENAI_API_KEY"));
    return connection;
  }
}
