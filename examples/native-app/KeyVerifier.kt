import com.dokar.quickjs.binding.asyncFunction
import com.dokar.quickjs.binding.function
import com.dokar.quickjs.evaluate
import com.dokar.quickjs.quickJs
import java.net.HttpURLConnection
import java.net.URL
import java.util.concurrent.ConcurrentHashMap
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.json.JSONObject

/**
 * Verifies a key with keyroot.js in the QuickJS engine (io.github.dokar3:quickjs-kt).
 * @param script the text of keyroot.js
 * @param options the options of createVerifier, as JSON
 * @return JSON: publicKey and evidence, or code, message and advice
 */
suspend fun verifyKey(script: String, options: String, userID: String, expectedPublicKey: String): String = quickJs {
    val wakeups = ConcurrentHashMap<Long, CompletableDeferred<Unit>>()
    fun wakeup(id: Any?) = wakeups.getOrPut((id as Number).toLong()) { CompletableDeferred() }

    asyncFunction("nativeRequest") { (request) -> withContext(Dispatchers.IO) { send(JSONObject(request as String)) } }
    asyncFunction("nativeSleep") { (id, ms) ->
        withTimeoutOrNull((ms as Number).toLong()) { wakeup(id).await() }
        Unit
    }
    function("nativeWake") { (id) -> wakeup(id).complete(Unit) }
    evaluate<Any?>(script, "keyroot.js")
    val arguments = listOf(options, userID, expectedPublicKey).joinToString { JSONObject.quote(it) }
    evaluate<String>("await verifyKey($arguments)")
}

/** Sends a request and does not follow redirects. */
private fun send(request: JSONObject): String {
    val connection = URL(request.getString("url")).openConnection() as HttpURLConnection
    try {
        connection.instanceFollowRedirects = false
        connection.connectTimeout = 30_000
        connection.readTimeout = 30_000
        connection.requestMethod = request.getString("method")
        val headers = request.getJSONObject("headers")
        for (name in headers.keys()) connection.setRequestProperty(name, headers.getString(name))
        if (request.has("body")) {
            connection.doOutput = true
            connection.outputStream.use { it.write(request.getString("body").toByteArray()) }
        }
        val status = connection.responseCode
        val stream = if (status < 400) connection.inputStream else connection.errorStream
        val body = stream?.use { it.readBytes() } ?: ByteArray(0)
        val received = connection.headerFields.filterKeys { it != null }
        return JSONObject()
            .put("url", connection.url.toString())
            .put("status", status)
            .put("headers", JSONObject(received.map { (name, values) -> name.lowercase() to values.last() }.toMap()))
            .put("body", String(body, Charsets.ISO_8859_1))
            .toString()
    } finally {
        connection.disconnect()
    }
}
