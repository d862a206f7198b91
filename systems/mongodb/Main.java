import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/** Starts mongo-java-server: host, port, file of the data, and with TLS key and certificate. */
public class Main {
    public static void main(String[] arguments) throws Exception {
        H2Backend backend = new H2Backend(arguments[2]);
        MongoServer server = new MongoServer(backend);
        if (arguments.length > 3) {
            server.enableSsl(key(arguments[3]), null, certificate(arguments[4]));
        }
        // A clean end closes the file, which writes it.
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        server.bind(arguments[0], Integer.parseInt(arguments[1]));
        System.out.println("listening");
    }

    private static PrivateKey key(String file) throws Exception {
        String text = Files.readString(Path.of(file), StandardCharsets.US_ASCII)
            .replaceAll("-----[A-Z ]+-----", "").replaceAll("\\s", "");
        PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text));
        return KeyFactory.getInstance("EC").generatePrivate(spec);
    }

    private static X509Certificate certificate(String file) throws Exception {
        byte[] pem = Files.readAllBytes(Path.of(file));
        return (X509Certificate) CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(pem));
    }
}
