// Stands before getaddrinfo (LD_PRELOAD), so that names fail or take long without a name server:
// *.slow.test waits 1.3 s and is 127.0.0.1, *.none.test does not exist, *.down.test has no server.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <time.h>

typedef int (*look_up)(const char*, const char*, const struct addrinfo*, struct addrinfo**);

static int ends_in(const char* name, const char* end) {
  size_t a = strlen(name), b = strlen(end);
  return a >= b && strcmp(name + a - b, end) == 0;
}

int getaddrinfo(const char* name, const char* service, const struct addrinfo* hints,
                struct addrinfo** out) {
  look_up real = (look_up)dlsym(RTLD_NEXT, "getaddrinfo");
  if (name == NULL) return real(name, service, hints, out);
  if (ends_in(name, ".none.test")) return EAI_NONAME;
  if (ends_in(name, ".down.test")) return EAI_AGAIN;
  if (ends_in(name, ".slow.test")) {
    struct timespec wait = {1, 300000000};
    nanosleep(&wait, NULL);
    return real("127.0.0.1", service, hints, out);
  }
  return real(name, service, hints, out);
}
