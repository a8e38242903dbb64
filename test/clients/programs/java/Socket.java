import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;

class Socket implements WebSocket.Listener {
  static final CountDownLatch closed = new CountDownLatch(1);

  public static void main(String[] args) throws Exception {
    HttpClient.newHttpClient()
        .newWebSocketBuilder()
        .header("Authorization", "Bearer " + System.getenv("OPENAI_API_KEY"))
        .buildAsync(URI.create("wss://api.openai.com/v1/realtime"), new Socket())
        .join();
    closed.await();
  }

  public void onOpen(WebSocket socket) {
    System.out.println("status 101");
    socket.request(1);
  }

  public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean last) {
    System.out.println(text);
    socket.request(1);
    return null;
  }

  public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
    closed.countDown();
    return null;
  }

  public void onError(WebSocket socket, Throwable error) {
    error.printStackTrace();
    System.exit(1);
  }
}
