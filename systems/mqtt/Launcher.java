/** Starts HiveMQ CE, which otherwise refuses all clients unless an extension authenticates them. */
public class Launcher {
    public static void main(String[] args) throws Exception {
        com.hivemq.configuration.service.InternalConfigurations
                .AUTH_DENY_UNAUTHENTICATED_CONNECTIONS.set(false);
        com.hivemq.HiveMQServer.main(args);
    }
}
