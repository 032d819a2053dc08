// What a program sees of a request behind com.sun.net.httpserver.HttpServer, as JSON; see the README beside this file.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;

class Reader {
    public static void main(String[] arguments) throws IOException {
        int port = Integer.parseInt(arguments[0]);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/", Reader::show);
        server.start();
    }

    private static void show(HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        String seen = exchange.getRequestHeaders().entrySet().stream()
            .flatMap(field -> field.getValue().stream().map(value -> "[" + quoted(field.getKey()) + "," + quoted(value) + "]"))
            .collect(Collectors.joining(","));
        byte[] answer = ("{\"seen\":[" + seen + "]}").getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, answer.length);
        exchange.getResponseBody().write(answer);
        exchange.close();
    }

    private static String quoted(String text) {
        String escaped = text.chars()
            .mapToObj(unit -> unit < ' ' || unit == '"' || unit == '\\' || unit > '~' ? String.format("\\u%04x", unit)
                : String.valueOf((char) unit))
            .collect(Collectors.joining());
        return '"' + escaped + '"';
    }
}
