import Foundation
import JavaScriptCore

/// Verifies keys with `keyroot.js`. All JavaScript runs on one queue, because the engine runs one call at a time.
final class KeyVerifier: NSObject, URLSessionTaskDelegate {
    private struct Request: Decodable {
        let url: String
        let method: String
        let headers: [String: String]
        let body: String?
    }

    private struct Answer: Encodable {
        let url: String
        let status: Int
        let headers: [String: String]
        let body: String
    }

    private let queue = DispatchQueue(label: "keyroot")
    private let context = JSContext()!
    private var sleeping: [Int32: JSValue] = [:]
    private lazy var session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)

    /// - Parameter script: the file keyroot.js in the app's bundle
    init(script: URL) throws {
        super.init()
        let code = try String(contentsOf: script, encoding: .utf8)
        let request: @convention(block) (String) -> JSValue = { [unowned self] json in
            JSValue(newPromiseIn: context) { resolve, reject in
                self.send(json) { answer in
                    self.queue.async {
                        if let answer { resolve?.call(withArguments: [answer]) }
                        else { reject?.call(withArguments: ["no answer"]) }
                    }
                }
            }
        }
        let sleep: @convention(block) (Int32, Double) -> JSValue = { [unowned self] id, ms in
            JSValue(newPromiseIn: context) { resolve, _ in
                self.sleeping[id] = resolve
                self.queue.asyncAfter(deadline: .now() + ms / 1000) { [weak self] in self?.wake(id) }
            }
        }
        let wake: @convention(block) (Int32) -> Void = { [unowned self] id in self.wake(id) }
        queue.sync {
            context.setObject(request, forKeyedSubscript: "nativeRequest" as NSString)
            context.setObject(sleep, forKeyedSubscript: "nativeSleep" as NSString)
            context.setObject(wake, forKeyedSubscript: "nativeWake" as NSString)
            context.evaluateScript(code, withSourceURL: script)
        }
    }

    /// Returns JSON: publicKey and evidence, or code, message and advice.
    /// - Parameter options: the options of `createVerifier`, as JSON
    func verify(options: String, userID: String, expectedPublicKey: String) async -> String {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                let done: @convention(block) (String) -> Void = { continuation.resume(returning: $0) }
                context.objectForKeyedSubscript("verifyKey")
                    .call(withArguments: [options, userID, expectedPublicKey])
                    .invokeMethod("then", withArguments: [JSValue(object: done, in: context)!])
            }
        }
    }

    private func wake(_ id: Int32) {
        sleeping.removeValue(forKey: id)?.call(withArguments: [])
    }

    private func send(_ json: String, _ done: @escaping (String?) -> Void) {
        guard let request = try? JSONDecoder().decode(Request.self, from: Data(json.utf8)),
              let url = URL(string: request.url) else { return done(nil) }
        var outgoing = URLRequest(url: url, timeoutInterval: 30)
        outgoing.httpMethod = request.method
        outgoing.allHTTPHeaderFields = request.headers
        outgoing.httpBody = request.body.map { Data($0.utf8) }
        session.dataTask(with: outgoing) { data, response, _ in
            guard let data, let response = response as? HTTPURLResponse else { return done(nil) }
            var headers: [String: String] = [:]
            for (name, value) in response.allHeaderFields { headers["\(name)".lowercased()] = "\(value)" }
            let answer = Answer(
                url: response.url?.absoluteString ?? "",
                status: response.statusCode,
                headers: headers,
                body: String(data: data, encoding: .isoLatin1) ?? ""
            )
            done((try? JSONEncoder().encode(answer)).map { String(decoding: $0, as: UTF8.self) })
        }.resume()
    }

    /// Does not follow redirects.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
